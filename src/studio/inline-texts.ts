/** `gridTexts.save`, in a component. */
const USE = /\b(\w+Texts)\.(\w+)\b/g

/** A line of a catalogue, or two, that is a text without values. */
const LINE = /^ {2}\w+:\s+(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"),$/gm

export type Catalogues = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/**
 * What is built has texts without values where they are shown, as if no catalogue were there. With their names the first
 * page is 1.9 KB and the documents are 3.7 KB larger (compressed).
 */
export function inlineTexts(code: string, catalogues: Catalogues): string {
  return code.replace(USE, (use, catalogue: string, key: string) => {
    const text = catalogues.get(catalogue)?.[key]
    return typeof text === 'string' ? JSON.stringify(text) : use
  })
}

/** A catalogue without the texts that are shown by what imports it. */
export function withoutInlined(code: string): string {
  return code.replace(LINE, '')
}
