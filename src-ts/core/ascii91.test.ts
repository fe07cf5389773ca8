import { expect, test } from 'vitest';
import { fromAscii91 } from './ascii91';

// tests/test_ascii91.py has the same texts.
const NAME = 'w$`q,g*u?eK[ZU1';
const ALL = [
  'n#cgn#sE8!d/5F8%TKA! /=4UT(C!!o+9p|;38b o(JUq]I0y9]TDB-n.Yjg`; 5__=lTKS]I-/zQuY9C)w(eTxL',
  'e]N1AT3?(OWAu]B; 2oD/2jCjs6Y)gg*@b3W|kDHN>sp9p2uY6UikJzL3cQ-KyXdufu{Z(UQs,1FY%~S3;83Lb.V',
  'YRm]i0HCPkYF:AeZ?wMuy9m1j@zX+z?_~A+2.D8|)p?kvXucdfgJ?M^kDE`}e6PhH0HbOV%[`t~4Wp)m-V%z__MJ',
  'zIDHFO`qoza6phr8:ydZ4-:vSEBO!r;(UN)m#gpz8j}f4{crp}H!'
].join('');

test('what Python writes is read', () => {
  expect(new TextDecoder().decode(fromAscii91(NAME))).toBe('dask_insight');
  expect(fromAscii91(ALL)).toEqual(Uint8Array.from({ length: 256 }, (_, index) => index));
  expect(fromAscii91('')).toEqual(new Uint8Array(0));
});

test('zeros of every length', () => {
  const lengths = [0, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15];
  for (let bytes = 0; bytes < 60; bytes++) {
    const signs = 16 * Math.floor(bytes / 13) + lengths[bytes % 13];
    expect(fromAscii91(' '.repeat(signs))).toEqual(new Uint8Array(bytes));
  }
});

test('every length is the beginning of a longer one, up to what its last bits say', () => {
  for (let signs = 16; signs <= 64; signs += 16) {
    const bytes = (signs / 16) * 13;
    expect([...fromAscii91(ALL.slice(0, signs))]).toEqual(Array.from({ length: bytes }, (_, index) => index));
  }
});

test('damage is named', () => {
  const damaged = [
    ' ',
    ' '.repeat(6),
    ' '.repeat(27),
    '<<',
    '~~',
    '"  ',
    '  ~',
    '  <',
    ' \n',
    '\u00e9\u00e9'
  ];
  for (const text of [...damaged, `${ALL.slice(0, 40)}&${ALL.slice(41)}`, ALL.slice(0, -1)]) {
    expect(() => fromAscii91(text), JSON.stringify(text)).toThrow('damaged');
  }
});
