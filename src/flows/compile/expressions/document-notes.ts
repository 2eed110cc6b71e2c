import { typeOfValue } from '../../../expressions/language/environment/environment-names.ts'
import { namesOf, type Place } from '../../../expressions/language/expression.ts'
import { didYouMean } from '../../../expressions/language/new-text.ts'
import {
  anyType,
  listOf,
  type ObjectType,
  type ValueType,
} from '../../../expressions/language/value-types.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import type { FieldsOf } from '../../../shared/field-rule.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { nearestName } from '../../../shared/names/nearest-name.ts'
import type { Graph, Node, PinExpression, Wire } from '../blueprint-graph.ts'
import { constantStorage, type Facts } from '../constants/fold-constants.ts'
import { bounded, type DeployNote } from '../notes/deploy-note.ts'
import { documentTypes } from './document-types.ts'
import { expressionProblem } from './expression-problem.ts'
import { checkTypes, declarations, type PresentTypes } from './type-problems.ts'

interface Unlisted {
  readonly of: ObjectType
  readonly key: string
  readonly place: Place
}

/**
 * What the fields of storages that there are now say of a blueprint: names that no field has, each once, and expressions that
 * do not fit the types of fields. Warnings only: fields change without a deploy, and documents may hold more or be older.
 */
export function* documentNotes(graph: Graph, facts: Facts, fieldsOf: FieldsOf): Steps<readonly DeployNote[]> {
  const notes: DeployNote[] = []
  const reported = new Set<string>()
  const declared = declarations()
  const typeIn = documentTypes(fieldsOf)
  const typeAt = (node: Node) => {
    const storage = constantStorage(node, facts)
    return storage === undefined ? undefined : typeIn(storage)
  }
  const bodyAt = bodyTypes(typeIn)
  for (const { expression } of graph.expressions) {
    if (!expression) continue
    yield
    const found: Unlisted[] = []
    const present = typesOf(expression, { typeAt, bodyAt }, found)
    if (!present) continue
    const usual = checkTypes(expression, declared)
    const known = new Set([...usual.problems, ...usual.notes].map(({ message }) => message))
    const hinted = checkTypes(expression, declared, present)
    for (const { of, key, place } of found) {
      const name = `${of.stored?.path}${key}`
      const id = `${of.stored?.storage} ${name}`
      if (reported.has(id)) continue
      reported.add(id)
      const note = unlistedNote(expression, { of, key, place }, fieldsOf)
      if (!note) continue
      yield
      notes.push({ ...note, once: id })
    }
    for (const { block, pin, column, message } of [...hinted.problems, ...hinted.notes])
      if (!known.has(message))
        notes.push({
          ...{ block, ...(pin !== undefined && { pin }), ...(column !== undefined && { column }) },
          message: `With the present fields of documents: ${message}`,
          level: 'warn',
        })
  }
  return bounded(notes, 'fields of documents')
}

/** Undefined when the expression reads no document whose fields are known. */
function typesOf(
  expression: PinExpression,
  { typeAt, bodyAt }: { readonly typeAt: TypeAt; readonly bodyAt: TypeAt },
  found: Unlisted[],
): PresentTypes | undefined {
  const { where, owner, wires, reachedBy, runNames } = expression
  const ofDoc = where ? typeAt(owner) : undefined
  const ofBody = runNames.has('body') ? theSame([...reachedBy].map(bodyAt)) : undefined
  const ofWire = (wire: Wire) => (wire.pin === 'body' ? bodyAt(wire.node) : typeOfDocuments(wire, typeAt))
  if (!ofDoc && !ofBody && ![...wires.values()].some(ofWire)) return undefined
  return { ofDoc, ofBody, ofWire, unlisted: (of, key, place) => void found.push({ of, key, place }) }
}

type TypeAt = (node: Node) => ObjectType | undefined

/** The body of a trigger that checks it by the fields of a storage. */
function bodyTypes(typeIn: (storage: string) => ObjectType | undefined): TypeAt {
  const known = new Map<string, ObjectType | undefined>()
  return ({ definition, settings }) => {
    const storage = definition.kind === 'trigger' ? settings.schema_storage : undefined
    if (typeof storage !== 'string') return undefined
    if (!known.has(storage)) known.set(storage, sentType(typeIn(storage)))
    return known.get(storage)
  }
}

/** A body has neither `_meta` nor what a block expands. */
function sentType(type: ObjectType | undefined): ObjectType | undefined {
  if (!type) return undefined
  const { _meta: _, _expand: __, ...fields } = type.fields
  return { ...type, fields }
}

/** A block behind several triggers knows the body when all of them take the same one. */
function theSame<T>(all: readonly T[]): T | undefined {
  return all.every((one) => one === all[0]) ? all[0] : undefined
}

/** The type of a wire from a block that reads or writes documents, or goes through those of another one. */
function typeOfDocuments(
  { node, pin }: Wire,
  typeAt: (node: Node) => ObjectType | undefined,
): ValueType | undefined {
  const out = node.out.get(pin)
  if (out?.type === 'document') return typeAt(node)
  if (out?.type === 'documents') {
    const type = typeAt(node)
    return type && listOf(type)
  }
  if (out?.takenFrom === undefined) return undefined
  const [list] = node.wires.get(out.takenFrom) ?? []
  if (!list) return typeAt(node)
  return list.node.out.get(list.pin)?.type === 'documents' ? typeAt(list.node) : undefined
}

/**
 * Documents may hold more than the fields say: of a storage that is not closed, only what looks like a slip of the hand is
 * told, and what is not the builder's to add.
 */
function unlistedNote(
  { owner, pin }: PinExpression,
  { of, key, place }: Unlisted,
  { isClosed }: FieldsOf,
): DeployNote | undefined {
  const { storage = '', path = '' } = of.stored ?? {}
  const meant = nearestName(key, Object.keys(of.fields))
  const isWhole = path.startsWith('_') || isClosed?.(storage) === true
  if (meant === undefined && !isWhole) return undefined
  const advice = didYouMean(meant === undefined ? undefined : `${path}${meant}`)
  const message = `The storage ${storage} has no field ${path}${key}: it is nothing unless documents hold it.${advice}`
  const { rule: _rule, ...problem } = expressionProblem(owner, pin, message, place.start)
  return { ...problem, level: 'warn' }
}

/**
 * What the values of the environment that there are now say of a blueprint: names without a value, each once, and
 * expressions that do not fit the types of the values. Warnings only: values may be set and changed after the deploy.
 */
export function* environmentNotes(graph: Graph, env: JsonObject): Steps<readonly DeployNote[]> {
  const notes: DeployNote[] = []
  const readers = graph.expressions.flatMap(({ expression }) =>
    expression?.runNames.has('env') ? [expression] : [],
  )
  if (readers.length === 0) return notes
  const reported = new Set<string>()
  const declared = declarations()
  for (const expression of readers) {
    yield
    for (const { name, start } of missingIn(expression, env)) {
      if (reported.has(name)) continue
      reported.add(name)
      // Up to 1,000 names are compared with each.
      yield
      const advice = didYouMean(nearestName(name, Object.keys(env)))
      const message = `There is no value env.${name}. Set it under Environment.${advice}`
      notes.push({ ...warning(expression, message, start), once: name })
    }
    const usual = new Set(checkTypes(expression, declared).problems.map(({ message }) => message))
    const hinted = checkTypes(expression, declared, { env: typeOfEnvironment(expression, env) })
    for (const { rule: _rule, message, ...problem } of hinted.problems)
      if (!usual.has(message))
        notes.push({ ...problem, message: `With the present values of env: ${message}`, level: 'warn' })
  }
  return bounded(notes, 'values of the environment')
}

/** The names of values that an expression reads, as far as they are written out. */
function namesRead({ parsed }: PinExpression): { readonly name: string; readonly start: number }[] {
  return namesOf(parsed).flatMap(({ name, inBlocks, path: [key], start }) =>
    !inBlocks && name === 'env' && key !== undefined ? [{ name: key, start }] : [],
  )
}

function missingIn(expression: PinExpression, env: JsonObject) {
  return namesRead(expression).filter(({ name }) => !Object.hasOwn(env, name))
}

function typeOfEnvironment(expression: PinExpression, env: JsonObject): ObjectType {
  const fields = namesRead(expression).map(({ name }) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    return [name, value === undefined ? anyType : typeOfValue(value)] as const
  })
  return { kind: 'object', open: true, fields: Object.fromEntries(fields) }
}

function warning({ owner, pin }: PinExpression, text: string, start: number): DeployNote {
  const { rule: _rule, ...problem } = expressionProblem(owner, pin, text, start)
  return { ...problem, level: 'warn' }
}
