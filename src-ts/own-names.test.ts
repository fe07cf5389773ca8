import { expect, it } from 'vitest';
// @ts-expect-error Scripts of the build have no types.
import { ownNames } from './own-names.mjs';

it('shortens no name that anybody else could mean', () => {
  const script = `
    class Panel {
      hidden = 0;
      shared = 1;
      quoted = 2;
      taken = 3;
      kept = 4;
      made() { return this.hidden + this.shared + this.quoted + this.taken + this.kept + this.called(); }
      called() { return other.shared + other['quoted']; }
    }
    const { taken } = answer;
    export const told = { kept: \`\${taken}\` };
  `;
  expect(ownNames(script)).toEqual(['hidden', 'called']);
});
