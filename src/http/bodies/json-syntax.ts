/**
 * Says where text stops being JSON. V8 gives a position for some mistakes and for others a piece of the text, which we
 * do not repeat to clients or logs, so the text is read once more; only bodies that were refused pay for it.
 *
 * The reader keeps what may come next: a value, a key, a colon, or what follows a value. `open` holds the brackets that
 * are open, so depth costs no stack.
 */
type Next = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'after'

const SPACE = /[ \t\n\r]*/y
const SCALAR =
  /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy

const expected: Readonly<Record<Next, string>> = {
  value: 'a value',
  'value or ]': 'a value or ]',
  key: 'a name in double quotes',
  'key or }': 'a name in double quotes or }',
  ':': 'a colon',
  after: 'a comma or the closing bracket',
}

/** "line 3, column 7: a value was expected there." Undefined when the text is JSON. */
export function syntaxErrorAt(text: string): string | undefined {
  const open: string[] = []
  let next: Next = 'value'
  // A byte order mark is skipped by the parser too.
  let at = text.startsWith('\ufeff') ? 1 : 0
  const skip = (pattern: RegExp): number => {
    pattern.lastIndex = at
    const length = pattern.exec(text)?.[0].length ?? 0
    at += length
    return length
  }
  for (;;) {
    skip(SPACE)
    const ended = next === 'after' && open.length === 0
    if (at >= text.length) return ended ? undefined : describe(text, at, 'the text ends too early.')
    if (ended) return describe(text, at, 'nothing was expected after the value.')
    const state: Next = next
    const character = text[at]
    const closing = character === open.at(-1) && (state === 'after' || state.endsWith(character ?? ''))
    if (closing) {
      open.pop()
      next = 'after'
      at += 1
    } else if (state === 'after' && character === ',') {
      next = open.at(-1) === '}' ? 'key' : 'value'
      at += 1
    } else if (state === ':' && character === ':') {
      next = 'value'
      at += 1
    } else if (state.startsWith('value') && (character === '{' || character === '[')) {
      open.push(character === '{' ? '}' : ']')
      next = character === '{' ? 'key or }' : 'value or ]'
      at += 1
    } else if (state.startsWith('value') || (state.startsWith('key') && character === '"')) {
      if (skip(SCALAR) === 0) return describe(text, at, `${expected[state]} was expected there.`)
      next = state.startsWith('key') ? ':' : 'after'
    } else return describe(text, at, `${expected[state]} was expected there.`)
  }
}

function describe(text: string, at: number, what: string): string {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  return `line ${line}, column ${column} (position ${at}): ${what}`
}
