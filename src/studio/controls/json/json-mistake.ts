import { controlsTexts } from '../../texts/shell.ts'

/**
 * Where typed JSON is wrong, in words with line and column; empty if it is right. By hand, since browsers say where only for
 * some mistakes, each in words of its own.
 */
export function jsonMistake(text: string): string {
  const found = mistakeIn(text)
  if (found === undefined) return ''
  const before = text.slice(0, found.at).split('\n')
  return controlsTexts.mistakeAt(before.length, (before.at(-1)?.length ?? 0) + 1, found.words)
}

interface Mistake {
  readonly at: number
  readonly words: string
}

const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\\n\r]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y

function mistakeIn(text: string): Mistake | undefined {
  let at = 0
  /** What is open: `}` or `]`, the innermost last. */
  const open: string[] = []

  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match !== null
  }
  const wrong = (words: string): Mistake => ({
    at,
    words: at >= text.length ? controlsTexts.endsHere(words) : words,
  })

  for (;;) {
    take(SPACE)
    const first = text[at]
    if (first === '{' || first === '[') {
      at++
      take(SPACE)
      const end = first === '{' ? '}' : ']'
      if (text[at] !== end) {
        open.push(end)
        if (end === '}' && !takeKey()) return wrong(controlsTexts.wantsName)
        continue
      }
      at++
    } else if (!take(STRING) && !take(NUMBER) && !take(WORD)) return wrong(controlsTexts.wantsValue)
    // After a value: what is open ends, or goes on.
    for (;;) {
      take(SPACE)
      const end = open.at(-1)
      if (end === undefined) return at >= text.length ? undefined : wrong(controlsTexts.wantsEnd)
      if (text[at] === end) {
        at++
        open.pop()
        continue
      }
      if (text[at] !== ',') return wrong(controlsTexts.wantsComma(end))
      at++
      take(SPACE)
      if (end === '}' && !takeKey()) return wrong(controlsTexts.wantsName)
      break
    }
  }

  function takeKey(): boolean {
    if (!take(STRING)) return false
    take(SPACE)
    if (text[at] !== ':') return false
    at++
    return true
  }
}
