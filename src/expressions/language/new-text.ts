import type { Compiler } from './evaluate.ts'
import type { Expression } from './expression.ts'
import { mostCharacters } from './value-bounds.ts'

/** A long text costs the budget one for each so many characters, as elements of a list do. */
const CHARACTERS_OF_ONE = 1_000

/** A text that an expression made. Most are short: the caller asks for the length first. */
export function checkNewText<F>(text: string, part: Expression, frame: F, compiler: Compiler<F>): string {
  if (text.length > mostCharacters)
    throw compiler.error(
      `The text has more than ${mostCharacters.toLocaleString('en')} characters. Shorten its parts.`,
      part,
    )
  if (text.length >= CHARACTERS_OF_ONE)
    compiler.host.context(frame).spend(Math.floor(text.length / CHARACTERS_OF_ONE))
  return text
}
