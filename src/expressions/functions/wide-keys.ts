/** Keys of an object that are few: V8 keeps such objects of one form together, and reading them costs no more than their text. */
const FEW = 1_000

const [QUOTE, BACKSLASH, COLON, OPEN, CLOSE] = ['"', '\\', ':', '{', '}'].map((one) => one.charCodeAt(0))

/**
 * How many keys of a JSON text are in objects of more than 1,000 keys: each takes 1 to 2 µs to read, which is more than can be told by
 * the length of the text. Of what is no JSON anything. A million characters take 5 to 17 ms, the longest where each is a
 * quote behind a backslash; with the 30 that jsonParse pays for so many that is still a turn.
 */
export function wideKeysIn(text: string): number {
  const keys: number[] = []
  let wide = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endOfText(text, at)
    else if (character === OPEN) keys.push(0)
    else if (character === COLON) keys[keys.length - 1] = (keys.at(-1) ?? 0) + 1
    else if (character === CLOSE) {
      const count = keys.pop() ?? 0
      if (count > FEW) wide += count
    }
  }
  return wide
}

/** Where the text in quotes that begins here ends. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return text.length
}
