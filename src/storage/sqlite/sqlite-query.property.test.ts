/**
 * The compiler against the reference: for random documents and searches SQLite finds the same documents in the same
 * order, with and without indexes, and whatever the shape knows.
 */
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  someFields,
  someSearch,
  storedDocuments,
  tidyBody,
  untidyBody,
} from '../../../test/arbitrary-documents.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Search } from '../../shared/query.ts'
import {
  type DocumentShape,
  emptyShape,
  loadShape,
  noteShape,
  openShape,
  STRING,
  shapeRows,
} from '../document-shape.ts'
import { searchDocuments } from '../order-documents.ts'
import { documentText } from '../text-tokens.ts'
import { indexExpression } from './field-sql.ts'
import { registerSearchFunctions } from './search-functions.ts'
import type { SearchTarget } from './search-target.ts'
import { compileCount, compileFind, cursorBehind } from './sqlite-query.ts'
import { documentTable, documentTableSql, textTable, textTableSql } from './tables.ts'

interface World {
  readonly db: DatabaseSync
}

function emptyWorld(indexed: boolean): World {
  const db = new DatabaseSync(':memory:')
  registerSearchFunctions(db)
  db.exec(documentTableSql(1))
  db.exec(textTableSql(1))
  if (indexed)
    for (const [number, field] of someFields.entries())
      db.exec(
        `CREATE INDEX ix_${number} ON ${documentTable(1)} (${indexExpression(field)}, created, guid) WHERE removed = 0`,
      )
  return { db }
}

function fill({ db }: World, documents: readonly JsonObject[]): void {
  db.exec(`DELETE FROM ${documentTable(1)}`)
  // Not DELETE: FTS5 keeps counting deleted rows of a contentless table, which only its ranking shows.
  db.exec(`DROP TABLE ${textTable(1)}; ${textTableSql(1)}`)
  const insert = db.prepare(
    `INSERT INTO ${documentTable(1)} (id, guid, created, updated, removed, version, doc)
     SELECT ?, m ->> 'guid', m ->> 'cms', m ->> 'ums', m ->> 'removed', 1, ? FROM (SELECT ? AS m)`,
  )
  const insertText = db.prepare(`INSERT INTO ${textTable(1)} (rowid, text) VALUES (?, ?)`)
  documents.forEach((document, index) => {
    // Every third number is left out: row numbers of a real table have holes.
    const id = index + Math.floor(index / 3) + 1
    insert.run(id, JSON.stringify(document), JSON.stringify(document._meta))
    insertText.run(id, documentText(document))
  })
}

function find(world: World, target: SearchTarget, search: Search): JsonObject[] {
  const { sql, parameters } = compileFind(target, search)
  const row = world.db.prepare(sql).get(...parameters)
  const found: JsonObject[] = JSON.parse(String(row?.documents))
  expect(row?.length).toBe(found.length)
  return found
}

function count(world: World, target: SearchTarget, search: Search): unknown {
  const { sql, parameters } = compileCount(target, search.query, search.includeRemoved)
  return world.db.prepare(sql).get(...parameters)?.n
}

function noted(documents: readonly JsonObject[]): DocumentShape {
  const shape = emptyShape()
  for (const document of documents) noteShape(shape, document)
  return shape
}

const guids = (documents: readonly JsonObject[]) =>
  documents.map((document) => JSON.stringify(document._meta))

/** Everything that must agree, for one search; then the pages behind it, by cursor, to the end. */
function expectSame(
  world: World,
  target: SearchTarget,
  documents: readonly JsonObject[],
  search: Search,
): void {
  const found = find(world, target, search)
  expect(guids(found)).toEqual(guids(searchDocuments(documents, search)))
  expect(found).toEqual(
    searchDocuments(documents, search).map((document) => JSON.parse(JSON.stringify(document))),
  )
  const all = { ...search, limit: 10_000, offset: 0 }
  expect(count(world, target, search)).toBe(searchDocuments(documents, all).length)
  expectSamePages(world, target, documents, { ...all, limit: Math.max(1, search.limit) })
}

function expectSamePages(
  world: World,
  target: SearchTarget,
  documents: readonly JsonObject[],
  search: Search,
): void {
  const { after: _, ...first } = search
  const walked: JsonObject[] = []
  for (let page = first as Search; ; ) {
    const found = find(world, target, page)
    walked.push(...found)
    const last = found.at(-1)
    const after = last && cursorBehind(search, last)
    if (after === undefined) {
      if (last) return
      break
    }
    page = { ...first, after }
    expect(walked.length).toBeLessThanOrEqual(documents.length)
    expect(guids(searchDocuments(documents, page))).toEqual(guids(find(world, target, page)))
  }
  expect(guids(walked)).toEqual(guids(searchDocuments(documents, { ...first, limit: 10_000 })))
}

type ShapeOf = (documents: readonly JsonObject[]) => DocumentShape

function agreement(world: World, withText: boolean, bodies: fc.Arbitrary<JsonObject>, shapeOf: ShapeOf) {
  const searches = fc.array(someSearch, { minLength: 1, maxLength: 4 })
  return fc.property(storedDocuments(bodies), searches, (documents, wanted) => {
    fill(world, documents)
    const target = {
      table: documentTable(1),
      textTable: withText ? textTable(1) : undefined,
      shape: shapeOf(documents),
    }
    for (const search of wanted) expectSame(world, target, documents, search)
  })
}

const shapes: [string, ShapeOf][] = [
  ['as it was noted', noted],
  ['as it was loaded', (documents) => loadShape(shapeRows(noted(documents)))],
  ['open', () => openShape()],
]

describe.each([
  ['tidy documents', tidyBody],
  ['untidy documents', untidyBody],
])('%s', (_, bodies) => {
  describe.each(shapes)('shape %s', (_, shapeOf) => {
    test.each([
      [true, true],
      [false, true],
      [true, false],
    ])('indexes %s, free-text index %s', (indexed, withText) => {
      const world = emptyWorld(indexed)
      // 2,500 runs each found nothing more, in three minutes.
      fc.assert(agreement(world, withText, bodies, shapeOf), { numRuns: 60 })
      world.db.close()
    })
  })
})

test('this can fail: it notices a shape that claims to have seen strings only', () => {
  const world = emptyWorld(false)
  const lie: ShapeOf = () => loadShape(someFields.map((field) => ({ field, types: STRING })))
  expect(fc.check(agreement(world, true, tidyBody, lie), { numRuns: 300 }).failed).toBe(true)
  expect(fc.check(agreement(world, true, untidyBody, lie), { numRuns: 300 }).failed).toBe(true)
  world.db.close()
})
