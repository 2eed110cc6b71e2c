import { isJsonObject } from '../../shared/json.ts'
import { mostCharacters, mostElements } from './compile/part-work.ts'
import type { Compiler } from './evaluate.ts'
import type { Call, Expression, MethodCall } from './expression.ts'
import { ArgumentError, type Parameter } from './function-declaration.ts'

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

/** These every object inherits, so that only a field of its own may be read. */
function isInherited(key: string): boolean {
  return key in Object.prototype
}

/** How a field of this name is read: of objects, and the length of texts and lists. Anything else has none. */
export function fieldReader(key: string): (value: unknown) => unknown {
  if (key === '__proto__') return () => undefined
  if (key === 'length') return lengthOf
  if (isInherited(key)) return (value) => ownField(value, key)
  // Half the time of Object.hasOwn.
  return (value) => (isJsonObject(value) ? value[key] : undefined)
}

function lengthOf(value: unknown): unknown {
  return typeof value === 'string' || Array.isArray(value) ? value.length : ownField(value, 'length')
}

function ownField(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Whether `value[key]` can be asked for, whatever the value is. */
export function isKey(key: unknown): key is string | number | null | undefined {
  return typeof key === 'string' || typeof key === 'number' || key === null || key === undefined
}

/** `value[key]`: an element of a list, a character of a text, or a field of an object. */
export function readIndex(value: unknown, key: string | number | null | undefined): unknown {
  if (key === null || key === undefined) return undefined
  if (typeof key === 'string') {
    if (key === '__proto__') return undefined
    return key === 'length' ? lengthOf(value) : ownField(value, key)
  }
  if (Array.isArray(value) || typeof value === 'string') return Number.isInteger(key) ? value[key] : undefined
  return ownField(value, String(key))
}

/** What a function gives must fit into the bounds of values. */
export function resultCheck<F>(
  part: Call | MethodCall,
  compiler: Compiler<F>,
): (result: unknown, frame: F) => unknown {
  return (result, frame) => {
    switch (typeof result) {
      case 'string':
        return result.length < 1_000 ? result : checkNewText(result, part, frame, compiler)
      case 'number':
        if (Number.isFinite(result)) return result
        throw compiler.error(`The result of ${part.name} is not a finite number.`, part)
      case 'object':
        if (!Array.isArray(result) || result.length <= mostElements) return result
        throw compiler.error(
          `${part.name} gives a list of more than ${mostElements.toLocaleString('en')} elements.`,
          part,
        )
      default:
        return result
    }
  }
}

/** Of an error that a body threw: where it is in the expression. */
export function callExplainer<F>(
  part: Call | MethodCall,
  parameters: readonly Parameter[],
  compiler: Compiler<F>,
): (error: unknown) => unknown {
  return (error) => {
    if (!(error instanceof ArgumentError)) return error
    const at = parameters.findIndex(({ name }) => name === error.parameter)
    const receiver = part.kind === 'method' ? part.of : part
    const operand = at < 0 ? receiver : part.arguments[Math.min(at, part.arguments.length - 1)]
    const failed = compiler.error(`${part.name}: ${error.parameter} ${error.message}.`, operand ?? part)
    failed.withoutValue = `${part.name}: ${error.parameter} does not fit.`
    failed.ofOperand = error.message
    return failed
  }
}

/** The end of a message about a name that is unknown. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean ${name}?`
}
