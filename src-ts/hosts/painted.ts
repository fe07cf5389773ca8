/** Until the browser has shown what there is; a hidden page shows nothing and does not wait. */
export function painted(): Promise<void> {
  return new Promise(resolve => {
    if (document.hidden) setTimeout(resolve);
    else requestAnimationFrame(() => setTimeout(resolve));
  });
}
