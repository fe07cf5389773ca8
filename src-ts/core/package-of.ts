/** Which body of code a file belongs to, as a person would name it. */

/** Names for what is no installed package. */
export const STANDARD_LIBRARY = 'Python';
export const OWN_CODE = 'your code';
export const NATIVE = 'native';

const INSTALLED = /(?:site|dist)-packages[\\/]([^\\/]+)/;
const STANDARD = /[\\/][Pp]ython\d+(?:\.\d+)?t?[\\/]|\\Lib\\|^<frozen |[\\/]lib[\\/]python/;
const DASK = /[\\/](distributed|dask)[\\/][\w.]+\.py$/;

/** The package of a file; module names end where the first dot or slash stands. */
export function packageOf(file: string): string {
  const installed = INSTALLED.exec(file);
  if (installed) return installed[1].replace(/\.(py|so|pyd)$/, '').replace(/\.cpython.*$/, '');
  if (STANDARD.test(file)) return STANDARD_LIBRARY;
  if (file === '' || file === '~') return NATIVE;
  return DASK.exec(file)?.[1] ?? OWN_CODE;
}

/** The end of a path, long enough to recognise the file. */
export function shortFile(file: string): string {
  const installed = INSTALLED.exec(file);
  if (installed) return file.slice(installed.index + installed[0].length - installed[1].length);
  const parts = file.split(/[\\/]/);
  return parts.slice(-2).join('/');
}
