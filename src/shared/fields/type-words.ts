/**
 * Types have words in three places that grew apart: fields of documents, schemas of requests, and inputs of forms. Each takes the
 * words of the others, too; what it stores and shows are its own.
 */
const sameWords: readonly (readonly string[])[] = [
  ['text', 'string', 'value'],
  ['line', 'one line', 'one_line'],
  ['area', 'long_text', 'long text'],
  ['number', 'decimal'],
  ['whole number', 'integer', 'number'],
  ['condition', 'boolean', 'check'],
  ['day', 'date'],
  ['date_time', 'instant', 'date'],
  ['array', 'list'],
  ['email', 'e-mail'],
]

/** The word of a place that means what was written there; undefined for one that has no meaning there. */
export function wordFor<T extends string>(written: unknown, words: readonly T[]): T | undefined {
  const own = words.find((word) => word === written)
  if (own !== undefined) return own
  for (const group of sameWords) {
    if (!group.some((word) => word === written)) continue
    const found = group.flatMap((word) => words.find((one) => one === word) ?? [])[0]
    if (found !== undefined) return found
  }
  return undefined
}

/** Words of other places that a place takes. */
export function otherWords(words: readonly string[]): readonly string[] {
  const all = [...new Set(sameWords.flat())]
  return all.filter((word) => !words.includes(word) && wordFor(word, words) !== undefined)
}
