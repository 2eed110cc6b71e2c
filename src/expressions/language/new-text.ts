import type { Compiler } from './evaluate.ts'
import type { Expression } from './expression.ts'
import { mostCharacters } from './value-bounds.ts'

/** A long text costs the budget one for each so many characters, as elements of a list do. */
const CHARACTERS_OF_ONE = 1_000

/** Work of one character that is copied: a text is copied when it is read after it was joined of parts. */
const CHARACTER = 0.006

/** A text that an expression made. Most are short: the caller asks for the length first. */
export function checkNewText<F>(text: string, part: Expression, frame: F, compiler: Compiler<F>): string {
  if (text.length > mostCharacters)
    throw compiler.error(
      `The text has more than ${mostCharacters.toLocaleString('en')} characters. Shorten its parts.`,
      part,
    )
  spendOnLongText(text, frame, compiler)
  return text
}

/** Of a text that an expression made, or that a function gets and may go through. */
export function spendOnLongText<F>(text: string, frame: F, { host }: Compiler<F>): void {
  if (text.length >= CHARACTERS_OF_ONE)
    host.context(frame).spend(Math.floor(text.length / CHARACTERS_OF_ONE), text.length * CHARACTER)
}
