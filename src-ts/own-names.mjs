import { parse } from 'acorn';

/**
 * Names of members that a script reaches through `this` alone: nobody else knows them, so that they may be as
 * short as those of variables.
 *
 * @param {string} script A module in which names are still those of its sources.
 * @returns {string[]}
 */
export function ownNames(script) {
  const [own, others] = [new Set(), new Set()];
  const visit = node => {
    if (Array.isArray(node)) node.forEach(visit);
    else if (node && typeof node === 'object') {
      if (node.type === 'MemberExpression' && !node.computed) {
        (node.object.type === 'ThisExpression' ? own : others).add(node.property.name);
      } else if (node.type === 'Property' && !node.computed) others.add(node.key.name ?? node.key.value);
      else if (node.type === 'Literal') others.add(node.value);
      else if (node.type === 'TemplateElement') others.add(node.value.cooked);
      Object.values(node).forEach(visit);
    }
  };
  visit(parse(script, { ecmaVersion: 'latest', sourceType: 'module' }));
  return [...own].filter(name => name && !others.has(name));
}
