import type { ObjectType, ValueType } from '../../expressions/language/value-types.ts'
import type { ValueShape } from '../values/value-shape.ts'

/** What a type of the checker says of a value in a reply. */
export function shapeOfType(type: ValueType): ValueShape {
  if (type.kind !== 'object' && type.field)
    return { kind: 'field', storage: type.field.storage, name: type.field.path }
  switch (type.kind) {
    case 'any':
      return { kind: 'unknown' }
    case 'text':
      return { kind: 'scalar', type: 'string' }
    case 'number':
      return { kind: 'scalar', type: 'number' }
    case 'whole':
      return { kind: 'scalar', type: 'integer' }
    case 'condition':
      return { kind: 'scalar', type: 'boolean' }
    case 'nothing':
      return { kind: 'scalar', type: 'null' }
    case 'list':
      return { kind: 'list', items: shapeOfType(type.of) }
    case 'object':
      return shapeOfObject(type)
  }
}

function shapeOfObject(type: ObjectType): ValueShape {
  const document = type.copyOf ?? (type.stored?.path === '' ? type : undefined)
  if (type.stored && !document)
    return { kind: 'field', storage: type.stored.storage, name: type.stored.path.slice(0, -1) }
  // Of a document only its storage is named: the description has its fields once.
  const own = document === type ? {} : type.fields
  const { storage, expand = [] } = document?.stored ?? {}
  return {
    kind: 'object',
    fields: Object.fromEntries(Object.entries(own).map(([name, field]) => [name, fieldShape(field)])),
    storage,
    ...(expand.length > 0 && { expand }),
    ...(type.without && { without: type.without }),
    open: type.open,
  }
}

/** A field that is nothing in each run, as far as the checker can tell, is mostly one that it does not know. */
function fieldShape(type: ValueType): ValueShape {
  return type.kind === 'nothing' ? { kind: 'unknown' } : shapeOfType(type)
}
