/**
 * Which JSON types a storage has ever held at each field. It only grows: a type that was seen stays seen, also when the
 * last document with it is gone, so what is assumed from it is never wrong, only sometimes too careful.
 *
 * It pays because the exact SQL for "status is the string open" must tell a string from an array or object that prints
 * the same, and look into arrays, and no index can do that. Where only strings were ever stored, plain equality is exact.
 *
 * Bounded, because documents may use data as keys (`votes.<guid>`): an object with more than {@link MAX_CHILDREN}
 * different keys is open (anything may be below it), and with more than {@link MAX_FIELDS} fields in all the whole shape
 * is. Null counts as missing and is not noted. `_meta` is not noted either: its types are fixed.
 */
import { fieldNameProblem, parseFieldPath } from '../../../shared/field-path.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'

export const STRING = 1
export const NUMBER = 2
export const BOOLEAN = 4
export const ARRAY = 8
export const OBJECT = 16
export const ANY_TYPE = STRING | NUMBER | BOOLEAN | ARRAY | OBJECT
/** Not a type: anything may be below this field. */
const OPEN = 32

const MAX_FIELDS = 2_000
const MAX_CHILDREN = 256
const MAX_PARTS = 16
const MAX_NAME = 256

interface ShapeNode {
  /** Dotted name from the document's root, '' for the root. */
  readonly field: string
  types: number
  readonly children: Map<string, ShapeNode>
}

export interface DocumentShape {
  readonly root: ShapeNode
  fields: number
}

/** How a shape is kept. The row with the empty field says that the whole shape is open. */
export interface ShapeRow {
  readonly field: string
  readonly types: number
}

export function emptyShape(): DocumentShape {
  return { root: { field: '', types: OBJECT, children: new Map() }, fields: 0 }
}

/** A shape that knows nothing: every field may hold anything. */
export function openShape(): DocumentShape {
  return { root: { field: '', types: OBJECT | OPEN, children: new Map() }, fields: 0 }
}

export function loadShape(rows: Iterable<ShapeRow>): DocumentShape {
  const shape = emptyShape()
  for (const row of rows) {
    let node = shape.root
    if (row.field !== '')
      for (const key of parseFieldPath(row.field)) node = node.children.get(key) ?? addChild(shape, node, key)
    node.types |= row.types
  }
  return shape
}

export function shapeRows(shape: DocumentShape): ShapeRow[] {
  const rows: ShapeRow[] = []
  const visit = (node: ShapeNode): void => {
    if (node.types !== 0) rows.push({ field: node.field, types: node.types })
    for (const child of node.children.values()) visit(child)
  }
  visit(shape.root)
  return rows
}

const NOTHING: readonly ShapeRow[] = []

/**
 * Takes a document into the shape and says what is new, as rows to save with the document (by field, replacing). Call it
 * before the document can be read. Costs one map lookup a key when nothing is new.
 */
export function noteShape(shape: DocumentShape, document: JsonObject): readonly ShapeRow[] {
  const changes: ShapeRow[] = []
  noteObject(shape, shape.root, document, 1, changes)
  return changes.length === 0 ? NOTHING : changes
}

/** The types that may be at a field: a mask of STRING, NUMBER, BOOLEAN, ARRAY, OBJECT; 0 where nothing was ever stored. */
export function typesAt(shape: DocumentShape, field: string): number {
  let node = shape.root
  for (const key of parseFieldPath(field)) {
    if (node.types & OPEN) return ANY_TYPE
    const child = node.children.get(key)
    if (!child) return 0
    node = child
  }
  return node.types & ANY_TYPE
}

function noteObject(
  shape: DocumentShape,
  node: ShapeNode,
  object: JsonObject,
  depth: number,
  changes: ShapeRow[],
): void {
  if (node.types & OPEN || depth > MAX_PARTS) return
  for (const key of Object.keys(object)) {
    const value = object[key]
    if (value === null || value === undefined || (depth === 1 && key === '_meta')) continue
    let child = node.children.get(key)
    if (!child) {
      if (!isAddressable(node, key)) continue
      const full = shape.fields >= MAX_FIELDS ? shape.root : node
      if (full === shape.root ? shape.fields >= MAX_FIELDS : node.children.size >= MAX_CHILDREN) {
        change(full, OPEN, changes)
        return
      }
      child = addChild(shape, node, key)
    }
    const type = typeOf(value)
    if ((child.types & type) === 0) change(child, type, changes)
    if (type === OBJECT) {
      // typeOf said so; the guard in isJsonObject would ask the same again for every object of every write.
      noteObject(shape, child, value as JsonObject, depth + 1, changes)
      if (shape.root.types & OPEN) return
    }
  }
}

function change(node: ShapeNode, types: number, changes: ShapeRow[]): void {
  node.types |= types
  changes.push({ field: node.field, types: node.types })
}

function addChild(shape: DocumentShape, node: ShapeNode, key: string): ShapeNode {
  const field = node.field === '' ? key : `${node.field}.${key}`
  const child: ShapeNode = { field, types: 0, children: new Map() }
  node.children.set(key, child)
  shape.fields += 1
  return child
}

/** A key that no field name can say (with a dot or a quote in it) is out of reach for queries too. */
function isAddressable(node: ShapeNode, key: string): boolean {
  return (
    !key.includes('.') && node.field.length + key.length < MAX_NAME && fieldNameProblem(key) === undefined
  )
}

function typeOf(value: JsonValue): number {
  switch (typeof value) {
    case 'string':
      return STRING
    case 'number':
      return NUMBER
    case 'boolean':
      return BOOLEAN
    default:
      return Array.isArray(value) ? ARRAY : OBJECT
  }
}
