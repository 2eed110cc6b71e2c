import { noteUnsent } from '../../../shared/fields/unsent-fields.ts'
import { isJsonObject } from '../../../shared/json.ts'
import type { Compiler, Evaluate, Locals } from '../evaluate.ts'
import type { ListLiteral, ObjectLiteral, Spread, Template } from '../expression.ts'
import { checkNewText } from '../new-text.ts'
import { kindOf } from '../value-types.ts'
import { mostElements } from './part-work.ts'

export function compileList<F>(part: ListLiteral, compiler: Compiler<F>): Evaluate<F> {
  const parts = part.elements.map((one) =>
    one.kind === 'spread' ? spreadInList(one, part, compiler) : oneElement(compiler.compile(one)),
  )
  return (frame, locals) => {
    const list: unknown[] = []
    for (const add of parts) add(list, frame, locals)
    return list
  }
}

type AddElements<F> = (list: unknown[], frame: F, locals: Locals) => void

function oneElement<F>(evaluate: Evaluate<F>): AddElements<F> {
  return (list, frame, locals) => {
    list.push(evaluate(frame, locals) ?? null)
  }
}

function spreadInList<F>(part: Spread, whole: ListLiteral, compiler: Compiler<F>): AddElements<F> {
  const of = compiler.compile(part.of)
  return (list, frame, locals) => {
    const value = of(frame, locals) ?? []
    if (!Array.isArray(value))
      throw compiler.error(`Only a list can be spread into a list; this is ${kindOf(value)}.`, part.of)
    if (list.length + value.length > mostElements)
      throw compiler.error(`The list has more than ${mostElements.toLocaleString('en')} elements.`, whole)
    compiler.host.context(frame).spend(value.length)
    for (const one of value) list.push(one ?? null)
  }
}

/** Work of one field that is copied: objects of many fields are tables, which take 0.5 µs for each. */
const FIELD = 1
const FIELD_OF_MANY = 6
const MANY_FIELDS = 50

type Fields = Record<string, unknown>

export function compileObject<F>(part: ObjectLiteral, compiler: Compiler<F>): Evaluate<F> {
  const parts = part.entries.map((one) => {
    if (one.kind === 'spread') return spreadInObject(one, compiler)
    const [key, value] = [one.key, compiler.compile(one.value)]
    return (fields: Fields, frame: F, locals: Locals) => {
      const input = value(frame, locals)
      fields[key] = input ?? null
      if (input === undefined) noteUnsent(fields, key)
    }
  })
  return (frame, locals) => {
    const fields: Fields = {}
    for (const add of parts) add(fields, frame, locals)
    return fields
  }
}

function spreadInObject<F>(part: Spread, compiler: Compiler<F>) {
  const of = compiler.compile(part.of)
  return (fields: Fields, frame: F, locals: Locals) => {
    const value = of(frame, locals) ?? {}
    if (!isJsonObject(value))
      throw compiler.error(`Only an object can be spread into an object; this is ${kindOf(value)}.`, part.of)
    const keys = Object.keys(value)
    compiler.host
      .context(frame)
      .spend(keys.length, keys.length * (keys.length > MANY_FIELDS ? FIELD_OF_MANY : FIELD))
    for (const key of keys) if (key !== '__proto__') fields[key] = value[key] ?? null
  }
}

/** Nothing leaves no trace in a text. */
export function compileTemplate<F>(part: Template, compiler: Compiler<F>): Evaluate<F> {
  const [first = '', ...texts] = part.texts
  const values = part.values.map((one, at) => ({
    part: one,
    value: compiler.compile(one),
    after: texts[at] ?? '',
  }))
  return (frame, locals) => {
    let text = first
    for (const one of values) {
      const value = one.value(frame, locals)
      if (typeof value === 'string') text += value
      else if (typeof value === 'number' || typeof value === 'boolean') text += String(value)
      else if (value !== undefined && value !== null)
        throw compiler.error(
          `A text cannot contain ${kindOf(value)}. Choose one of its ${Array.isArray(value) ? 'elements or join it' : 'fields'}.`,
          one.part,
        )
      text += one.after
      if (text.length >= 1_000) checkNewText(text, part, frame, compiler)
    }
    return text
  }
}
