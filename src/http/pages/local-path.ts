/**
 * Where to go after signing in, as a request says it: a path of our own, or undefined. `//evil.example`, `/\evil.example`
 * and everything with a scheme or a control character lead elsewhere in some browser.
 */
export function localPath(written: string | undefined): string | undefined {
  if (written === undefined || written.length > 2048 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(written))
    return undefined
  if (written.includes('\\')) return undefined
  const base = 'http://quoin.invalid'
  if (!URL.canParse(written, base)) return undefined
  const url = new URL(written, base)
  return url.origin === base && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : undefined
}
