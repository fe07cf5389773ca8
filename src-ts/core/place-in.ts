/** The place of a key among those that came, in their order: a new one comes last. */
export function placeIn<Key>(places: Map<Key, number>, key: Key): number {
  const place = places.get(key) ?? places.size;
  if (place === places.size) places.set(key, place);
  return place;
}
