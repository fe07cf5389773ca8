import type { Stop } from '../core/recording';

/** What a person does who is there. */
const SIGNS = ['pointerdown', 'keydown', 'wheel'];

/** Calls back at each sign of a person within a part of the page, whoever else takes it. Returns the stop. */
export function onSign(part: EventTarget, callback: () => void): Stop {
  const end = new AbortController();
  for (const sign of SIGNS) {
    part.addEventListener(sign, callback, { capture: true, passive: true, signal: end.signal });
  }
  return () => end.abort();
}
