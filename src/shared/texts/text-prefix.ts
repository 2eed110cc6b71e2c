/** Texts with one beginning as a range: in the order of code points they are next to each other. */
export function prefixBounds(prefix: string): { readonly gte: string; readonly lt?: string } {
  const after = textAfter(prefix)
  return after === undefined ? { gte: prefix } : { gte: prefix, lt: after }
}

/** The first text that comes after all texts with this beginning. */
function textAfter(prefix: string): string | undefined {
  let end = prefix.length
  while (end > 0) {
    const isPair = end > 1 && (prefix.codePointAt(end - 2) ?? 0) > 0xffff
    const at = isPair ? end - 2 : end - 1
    const point = prefix.codePointAt(at) ?? 0
    // Between U+D800 and U+DFFF are halves of pairs, which no text ends with.
    if (point < 0x10ffff)
      return prefix.slice(0, at) + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)
    end = at
  }
  return undefined
}
