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
      named = 8;
      sent = 5;
      marked = 6;
      constructor() { this.later = 6; }
      made() { return this.hidden + this.shared + this.quoted + this.taken + this.kept + this.called(); }
      called() { return other.shared + other['quoted'] + other.later + other.foreign + answer.sent + page.dataset.marked; }
    }
    const { taken, unknown, 'named': named, ...rest } = answer;
    export const told = { kept: \`\${taken}\`, shape: 1, listed: 2, plain: 3, 'dashed': list('listed') };
  `;
  const names = ['hidden', 'later', 'shared', 'made', 'called', 'taken', 'shape'];
  expect(ownNames(script, new Set(['sent']), new Set(['shape', 'listed', 'dashed'])).sort()).toEqual(
    names.sort()
  );
});
