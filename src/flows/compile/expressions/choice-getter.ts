import type { Expression } from '../../../expressions/language/expression.ts'
import { StoredJson } from '../../../storage/stored-json.ts'
import type { Frame } from '../frame.ts'

type Getter = (frame: Frame) => unknown

export interface Parts {
  /** What a bare reference to a block gives, as it is; undefined for any other part. */
  reference(part: Expression): Getter | undefined
  compile(part: Expression): Getter
}

/**
 * An expression that chooses between blocks (`a.document ?? b.document`, `a.document ? 201 : 200`) looks only at whether
 * there is a value: a stored document passes as its text, which a reply sends without parsing it. Undefined for
 * an expression that chooses nothing.
 */
export function choiceGetter(part: Expression, parts: Parts): Getter | undefined {
  if (part.kind === 'choice') {
    const test = parts.reference(part.test) ?? parts.compile(part.test)
    const then = chosen(part.then, parts)
    const otherwise = chosen(part.otherwise, parts)
    return (frame) => (isTrue(test(frame)) ? then(frame) : otherwise(frame))
  }
  if (part.kind !== 'logical' || part.operator !== '??') return undefined
  const left = chosen(part.left, parts)
  const right = chosen(part.right, parts)
  return (frame) => {
    const value = left(frame)
    return isNothing(value) ? right(frame) : value
  }
}

function chosen(part: Expression, parts: Parts): Getter {
  return choiceGetter(part, parts) ?? parts.reference(part) ?? parts.compile(part)
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (value instanceof StoredJson && value.text === 'null')
}

function isTrue(value: unknown): boolean {
  if (!(value instanceof StoredJson)) return Boolean(value)
  return value.text.startsWith('{') || value.text.startsWith('[') || Boolean(value.value)
}
