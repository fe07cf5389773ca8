import { callTree } from './call-tree';

/** Prints the tree as a profile that speedscope opens, inside the script that it loads it from. */
const { parent, name, self, names } = callTree(Number(process.argv[2]));
const stacks = Array.from(parent, (_, node) => {
  const stack: number[] = [];
  for (let each = node; each >= 0; each = parent[each]) stack.push(name[each]);
  return stack.reverse();
});
const profile = {
  $schema: 'https://www.speedscope.app/file-format-schema.json',
  shared: { frames: names.map(each => ({ name: each })) },
  profiles: [
    {
      type: 'sampled',
      name: 'tree',
      unit: 'seconds',
      startValue: 0,
      endValue: self.reduce((a, b) => a + b, 0),
      samples: stacks,
      weights: Array.from(self)
    }
  ]
};
const text = Buffer.from(JSON.stringify(profile)).toString('base64');
process.stdout.write(`speedscope.loadFileFromBase64("tree.json", "${text}")`);
