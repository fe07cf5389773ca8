import { deflateSync } from 'node:zlib';
import { encode } from '@msgpack/msgpack';
import { expect, test, vi } from 'vitest';

// Node has no ascii91 to write; of base64 it has.
vi.mock('../core/ascii91', () => ({
  fromAscii91: (text: string) => Uint8Array.from(Buffer.from(text, 'base64'))
}));

test('a column that cannot be read when a panel asks for it is named above the panels', async () => {
  const code = { name: 'prefix', kind: 'sym', symbols: [], width: 1, data: Uint8Array.of(3) };
  const block = deflateSync(encode({ table: 'graph', rows: 1, columns: [code] })).toString('base64');
  document.body.innerHTML = `<div id="tools"></div><main id="page"></main>
    <script type="application/octet-stream" class="batches" data-part="first" id="first-0">${block}</script>
    <p></p>`;
  await import('./report');
  await vi.waitFor(() => expect(document.documentElement.dataset.opened).toBe('true'), { timeout: 10_000 });
  const notices = [...document.querySelectorAll('.notice')].map(({ textContent }) => textContent);
  expect(notices).toEqual([
    'Columns of this report cannot be read and are missing here: graph.prefix: column prefix: a code without a symbol.'
  ]);
});
