/** What a column holds as JSON lists; nothing of it is trusted to be one. */

export function listed(json: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

/** The texts in it. */
export function texts(json: string): string[] {
  return listed(json).filter(each => typeof each === 'string');
}
