import { BatchError } from './batch-error';
import { join32 } from './planes';

/** Texts, read one by one when somebody looks; `dask_insight/batch/` describes their two forms. */
export interface Texts {
  readonly length: number;
  text(row: number): string;
}

const DECODER = new TextDecoder();

/** So many texts that are empty. */
export function noTexts(length: number): Texts {
  return { length, text: () => '' };
}

/** Texts one after another, UTF-8: row r is `data.subarray(offsets[r], offsets[r + 1])`. */
export function plainTexts(offsets: Uint32Array, data: Uint8Array): Texts {
  return {
    length: offsets.length - 1,
    text: row => DECODER.decode(data.subarray(offsets[row], offsets[row + 1]))
  };
}

/** What stands for texts that are alike but for the numbers in them. */
export interface PackedForms {
  /** Each form as the pieces between which its numbers stand. */
  readonly forms: readonly (readonly string[])[];
  /** The form of each row, or its place in the list that `within` has for the row's group. */
  readonly codes: ArrayLike<number>;
  readonly group:
    | { readonly codes: ArrayLike<number>; readonly within: readonly (readonly number[])[] }
    | undefined;
  readonly numbers: readonly {
    readonly planes: number;
    readonly data: Uint8Array;
    readonly alike: boolean;
  }[];
}

/** Texts from forms and numbers. Throws `BatchError` where they do not go together. */
export function numberedTexts(name: string, { forms, codes, group, numbers }: PackedForms): Texts {
  const rows = codes.length;
  const of = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) {
    const form = group ? group.within[group.codes[row]]?.[codes[row]] : codes[row];
    if (form === undefined || forms[form] === undefined)
      throw new BatchError(`column ${name}: a code without a form`);
    of[row] = form;
  }
  if (forms.some(pieces => pieces.length < 1 || pieces.length - 1 > numbers.length)) {
    throw new BatchError(`column ${name}: a form without its numbers`);
  }
  const columns = numbers.map(({ planes, data, alike }) => {
    const values = join32(name, data, planes, new Uint32Array(rows));
    const last = new Uint32Array(alike ? forms.length : 1);
    for (let row = 0; row < rows; row++) {
      const code = values[row];
      const at = alike ? of[row] : 0;
      last[at] += (code >>> 1) ^ -(code & 1);
      values[row] = last[at];
    }
    return values;
  });
  return {
    length: rows,
    text: row => {
      const pieces = forms[of[row]];
      let text = pieces[0];
      for (let slot = 1; slot < pieces.length; slot++) text += columns[slot - 1][row] + pieces[slot];
      return text;
    }
  };
}
