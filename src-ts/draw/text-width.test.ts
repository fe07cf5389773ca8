import { expect, test } from 'vitest';
import { TextWidth } from './text-width';

test('names that are cut in their middle to fit are told apart by both their ends', () => {
  const widths = new TextWidth('12px sans-serif');
  const names = ['name_of_step_number_100', 'name_of_step_number_117', 'name_of_step_number_042'];
  const room = widths.of('name_of_step_num');
  const cut = names.map(name => widths.fittedEnds(name, room));
  expect(new Set(cut).size).toBe(3);
  for (const [at, each] of cut.entries()) {
    expect(each).toMatch(/^name_.*…/);
    expect(each.slice(-3)).toBe(names[at].slice(-3));
    expect(widths.of(each)).toBeLessThanOrEqual(room);
  }
  expect(widths.fittedEnds('sum', room)).toBe('sum');
  expect(widths.fittedEnds('summarize', widths.of('ab'))).toBe('');
});
