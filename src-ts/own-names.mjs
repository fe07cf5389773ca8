import { parse } from 'acorn';

/**
 * Names of members that only this script gives and uses: those of its classes, which it reaches through `this` or
 * declares, and those of the objects whose shape its sources declare. Nobody else knows them, so that they may be as
 * short as those of variables; those of the browser's own objects terser leaves as they are.
 *
 * @param {string} script A module in which names are still those of its sources.
 * @param {ReadonlySet<string>} foreign Names in data that come from elsewhere, such as JSON.
 * @param {ReadonlySet<string>} shapes Names of members that types declare.
 * @returns {string[]}
 */
export function ownNames(script, foreign = new Set(), shapes = new Set()) {
  const [declared, fixed] = [new Set(), new Set()];
  const visit = node => {
    if (Array.isArray(node)) node.forEach(visit);
    else if (node && typeof node === 'object') {
      if (node.type === 'MemberExpression' && !node.computed) {
        const { object, property } = node;
        // A member of a data set is an attribute of its element.
        const isAttribute = object.property?.name === 'dataset';
        if (isAttribute) fixed.add(property.name);
        else if (object.type === 'ThisExpression') declared.add(property.name);
      } else if (DECLARES.has(node.type) && node.key.type === 'Identifier') declared.add(node.key.name);
      else if (node.type === 'ObjectPattern') {
        // What is taken out of an object is read, as behind a dot.
        for (const each of node.properties) Object.values(each).forEach(visit);
        return;
      } else if (node.type === 'Property' && !node.computed) {
        const name = node.key.name ?? node.key.value;
        (node.key.type === 'Identifier' && shapes.has(name) ? declared : fixed).add(name);
      } else if (node.type === 'Literal') fixed.add(node.value);
      else if (node.type === 'TemplateElement') fixed.add(node.value.cooked);
      Object.values(node).forEach(visit);
    }
  };
  visit(parse(script, { ecmaVersion: 'latest', sourceType: 'module' }));
  return [...declared].filter(
    name => name && name !== 'constructor' && !fixed.has(name) && !foreign.has(name)
  );
}

const DECLARES = new Set(['MethodDefinition', 'PropertyDefinition']);
