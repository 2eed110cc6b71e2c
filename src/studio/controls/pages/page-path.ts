/** The path of a page, from the address that its block has: `/books`. Undefined where a wire gives it. */
export function pagePath(url: unknown): string | undefined {
  return typeof url === 'string' && url.trim() !== '' ? `/${url.trim().replace(/^\/+/, '')}` : undefined
}

/** Whether a browser can go there: a path with parameters needs their values first, and `/\\host` is another server. */
export function isOpenable(path: string): boolean {
  return !/[{}\\]|\/:/.test(path)
}
