/** The types of objects that are made of others: written out, or by functions. */
import { type Argument, type Entry, partsOf, type Spread } from './expression.ts'
import type { ObjectResult } from './function-declaration.ts'
import type { ParameterTypes, TypeChecker } from './type-checker.ts'
import { anyType, isWide, type ObjectType, objectType, type ValueType, wordsFor } from './value-types.ts'

export function typeOfObject(
  entries: readonly (Entry | Spread)[],
  parameters: ParameterTypes,
  checker: TypeChecker,
): ValueType {
  let made: ObjectType = { kind: 'object', fields: {}, open: false }
  for (const one of entries) {
    if (one.kind === 'entry') {
      const { key, value } = one
      made = put(made, { [key]: checker.type(value, parameters) })
      continue
    }
    const type = checker.type(one.of, parameters)
    if (type.kind === 'object' || type.kind === 'any') made = spread(made, type)
    else if (type.kind !== 'nothing')
      checker.report(
        'error',
        `Only an object can be spread into an object; this is ${wordsFor(type)}.`,
        one.of,
      )
  }
  return made
}

/** What `omit`, `pick` and `merge` give of the objects that they get. */
export function typeOfMadeObject(
  gives: ObjectResult,
  types: readonly ValueType[],
  input: readonly Argument[],
): ValueType {
  if (gives === 'merged')
    return types.reduce<ObjectType>(mergedWith, { kind: 'object', fields: {}, open: false })
  const [of = anyType] = types
  if (of.kind !== 'object') return objectType
  const names = textsOf(input[1])
  if (names) return gives === 'picked' ? picked(of, names) : omitted(of, names)
  return gives === 'picked' && keepsMeta(input[1]) ? of : objectType
}

/** Which other fields are left is not known. Each of them may be missing in any document, but for `_meta`. */
function keepsMeta(part: Argument | Entry | Spread | undefined): boolean {
  if (!part) return false
  return part.kind === 'literal' ? part.value === '_meta' : partsOf(part).some(keepsMeta)
}

function mergedWith(made: ObjectType, type: ValueType): ObjectType {
  return type.kind === 'nothing' ? made : spread(made, type.kind === 'object' ? type : anyType)
}

function put(made: ObjectType, fields: Readonly<Record<string, ValueType>>): ObjectType {
  return { ...made, fields: { ...made.fields, ...fields } }
}

function spread(made: ObjectType, type: ObjectType | typeof anyType): ObjectType {
  if (type.kind !== 'object') return { kind: 'object', fields: unknownFields(made), open: true }
  const document = documentOf(type)
  // Of two documents it is not known which one a field is of.
  if (document && !made.copyOf) return copyWith(made, type, document)
  // It is open, so that nothing is known of any field after it.
  const isCopied = !isWide(type) && !document
  const open = made.open || type.open || !isCopied
  const fields = { ...made.fields, ...(isCopied && type.fields) }
  return { kind: 'object', fields: open ? unknownFields({ ...made, fields }) : fields, open }
}

/** What was there before is that of the document, or may be where it lists no such field. */
function copyWith(made: ObjectType, type: ObjectType, document: ObjectType): ObjectType {
  const known = Object.entries(unknownFields(made)).filter(([key]) => !Object.hasOwn(document.fields, key))
  const own = type === document ? {} : type.fields
  const { without } = type
  return {
    ...{ kind: 'object', fields: { ...Object.fromEntries(known), ...own }, open: true, copyOf: document },
    ...(without && { without }),
  }
}

/** What is open may replace any field before it. */
function unknownFields({ fields }: ObjectType): Readonly<Record<string, ValueType>> {
  return Object.fromEntries(Object.keys(fields).map((key) => [key, anyType]))
}

function omitted(of: ObjectType, names: readonly string[]): ObjectType {
  const document = documentOf(of)
  const own = of === document ? {} : of.fields
  const fields = Object.fromEntries(Object.entries(own).filter(([key]) => !names.includes(key)))
  if (!document) return { kind: 'object', fields, open: of.open }
  return { kind: 'object', fields, open: true, copyOf: document, without: [...(of.without ?? []), ...names] }
}

function picked(of: ObjectType, names: readonly string[]): ObjectType {
  const document = of.copyOf && !of.without ? of.copyOf.fields : {}
  const known = { ...document, ...of.fields }
  const fields = names.map((name) => [name, Object.hasOwn(known, name) ? known[name] : undefined] as const)
  return {
    kind: 'object',
    fields: Object.fromEntries(fields.map(([name, type]) => [name, type ?? anyType])),
    open: true,
  }
}

function documentOf(type: ObjectType): ObjectType | undefined {
  return type.copyOf ?? (type.stored?.path === '' ? type : undefined)
}

/** Names that are written out. */
function textsOf(part: Argument | undefined): readonly string[] | undefined {
  if (part?.kind !== 'list') return undefined
  const texts = part.elements.map((one) => (one.kind === 'literal' ? one.value : undefined))
  return texts.every((one) => typeof one === 'string') ? texts : undefined
}
