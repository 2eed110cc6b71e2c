/**
 * Changes of cells on their way to the server. A cell shows at once what was typed. Writes of one document go one after the
 * other; of several documents four go at a time. A refused write stays in its cell, with the reason.
 *
 * Lock: each write names the version of the document that it was made from. If another client has changed the document but not
 * this cell, the write is sent again for the new version; if it has changed this cell, that is a refusal.
 */
import { useQueryClient } from '@tanstack/react-query'
import { type Dispatch, type SetStateAction, useMemo, useRef, useState } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import type { RecordPage } from '../../../../shared/record-page.ts'
import { ApiError, messageOf } from '../../../api/api-error.ts'
import { call } from '../../../api/request.ts'
import { documentPath } from '../../../api/storages.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import { isFields, valueAt } from '../documents/document-shape.ts'
import type { DocumentChange } from '../undo/undo-step.ts'

export interface CellEdit {
  readonly value: unknown
  /** Why it is not stored; undefined while it is on its way. */
  readonly problem: string | undefined
}

export type RowEdits = ReadonlyMap<string, CellEdit>

/** By the guids of documents. */
export type RowsOfEdits = ReadonlyMap<string, RowEdits>
export type CellState = readonly [RowsOfEdits, Dispatch<SetStateAction<RowsOfEdits>>]
export const noEdits: RowsOfEdits = new Map()

export interface CellEdits {
  of(guid: string): RowEdits | undefined
  /** The document with what was typed. */
  shown(document: Document): Document
  /** Stores values by name of field. */
  write(document: Document, values: ReadonlyMap<string, unknown>): void
  /** What was typed cannot be a value of the field: it is not sent. */
  refuse(document: Document, name: string, value: unknown, problem: string): void
  discard(guid: string, name: string): void
  /** When all writes that are on their way have ended. */
  settled(): Promise<unknown>
}

/** Hears of values that were stored. `act`: the same for all writes of one key or click. */
type Stored = (act: object, change: DocumentChange) => void

/** How often a write is sent again because others change the same document. */
const MOST_TRIES = 5
const AT_ONCE = 4

export function useCellEdits(
  storage: string,
  key: readonly unknown[],
  [edits, setEdits]: CellState,
  onStored: Stored,
): CellEdits {
  const client = useQueryClient()
  const turns = useRef(new Map<string, Promise<void>>())
  const [limit] = useState(() => atMost(AT_ONCE))
  const pageKey = useRef(key)
  pageKey.current = key
  const hears = useRef(onStored)
  hears.current = onStored
  const [presentAct] = useState(() => oneAct())
  return useMemo(() => {
    const put = (guid: string, name: string, edit: CellEdit | undefined) =>
      setEdits((before) => changed(before, guid, name, edit))
    /** The row of the page as it is now, in place: it does not move, even if it is sorted by this field. */
    const replace = (document: Document) =>
      client.setQueryData<RecordPage<Document>>(
        pageKey.current,
        (page) =>
          page && {
            ...page,
            records: page.records.map((one) => (one._meta.guid === document._meta.guid ? document : one)),
          },
      )
    const latest = (document: Document) =>
      client
        .getQueryData<RecordPage<Document>>(pageKey.current)
        ?.records.find(({ _meta }) => _meta.guid === document._meta.guid) ?? document
    /** Of what this write had put; what was typed into the cell since stays. */
    const end = (guid: string, name: string, own: CellEdit | undefined, next: CellEdit | undefined) =>
      setEdits((before) => (before.get(guid)?.get(name) === own ? changed(before, guid, name, next) : before))
    const write = async (document: Document, own: RowEdits, within: object) => {
      const values = new Map([...own].map(([name, { value }]) => [name, value]))
      try {
        const from = latest(document)
        const stored = await store(storage, from, values)
        replace(stored)
        const { guid } = document._meta
        hears.current(within, { guid, before: picked(from, values), after: picked(stored, values) })
        for (const [name, edit] of own) end(guid, name, edit, undefined)
        for (const part of ['history', 'one'])
          void client.invalidateQueries({ queryKey: ['documents', storage, part, document._meta.guid] })
      } catch (error) {
        if (error instanceof Changed) replace(error.document)
        for (const [name, problem] of problems(error, [...values.keys()]))
          end(document._meta.guid, name, own.get(name), { value: values.get(name), problem })
      }
    }
    return {
      of: (guid: string) => edits.get(guid),
      shown: (document: Document) =>
        [...(edits.get(document._meta.guid) ?? [])].reduce(
          (shown, [name, { value }]) => withValue(shown, name, value),
          document,
        ),
      write: (document: Document, values: ReadonlyMap<string, unknown>) => {
        const { guid } = document._meta
        const within = presentAct()
        const own = new Map([...values].map(([name, value]) => [name, { value, problem: undefined }]))
        for (const [name, edit] of own) put(guid, name, edit)
        const turn = (turns.current.get(guid) ?? Promise.resolve()).then(() =>
          limit(() => write(document, own, within)),
        )
        turns.current.set(guid, turn)
        void turn.then(() => turns.current.get(guid) === turn && turns.current.delete(guid))
      },
      refuse: ({ _meta }: Document, name: string, value: unknown, problem: string) =>
        put(_meta.guid, name, { value, problem }),
      discard: (guid: string, name: string) => put(guid, name, undefined),
      settled: () => Promise.all(turns.current.values()),
    }
  }, [client, edits, setEdits, limit, presentAct, storage])
}

/** The same object for all that is asked for in one turn. */
function oneAct(): () => object {
  let act: object | undefined
  return () => {
    const present = act ?? {}
    act = present
    queueMicrotask(() => {
      act = undefined
    })
    return present
  }
}

function picked(document: Document, values: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
  return new Map([...values.keys()].map((name) => [name, valueAt(document, name)]))
}

class Changed extends Error {
  readonly document: Document
  constructor(document: Document, name: string) {
    super(documentsTexts.cellChangedMeanwhile(JSON.stringify(valueAt(document, name) ?? null)))
    this.document = document
  }
}

/** Throws Changed when another client has changed one of these fields since the document was read. */
async function store(
  storage: string,
  document: Document,
  values: ReadonlyMap<string, unknown>,
): Promise<Document> {
  const path = documentPath(storage, document._meta.guid)
  let from = document
  for (let tries = 1; ; tries += 1) {
    try {
      const query = { update_hash: from._meta.update_hash }
      return await call<Document>('PUT', path, { body: Object.fromEntries(values), query })
    } catch (error) {
      const isStale = error instanceof ApiError && error.code === 'CONFLICT' && error.fields.length === 0
      if (!isStale || tries === MOST_TRIES) throw error
      const now = await call<Document>('GET', path)
      if (now._meta.update_hash === from._meta.update_hash) throw error
      for (const name of values.keys())
        if (JSON.stringify(valueAt(now, name)) !== JSON.stringify(valueAt(document, name)))
          throw new Changed(now, name)
      from = now
    }
  }
}

/** Each field that is not stored, with the reason: of several, those that are not named were fine and were not stored either. */
function problems(error: unknown, names: readonly string[]): readonly (readonly [string, string])[] {
  const named = error instanceof ApiError ? names.filter((name) => error.fields.includes(name)) : []
  const message = messageOf(error)
  if (named.length === 0) return names.map((name) => [name, message])
  return names.map((name) => [
    name,
    named.includes(name) ? message : documentsTexts.notStored(named.join(', ')),
  ])
}

function changed(
  before: ReadonlyMap<string, RowEdits>,
  guid: string,
  name: string,
  edit: CellEdit | undefined,
): ReadonlyMap<string, RowEdits> {
  const row = new Map(before.get(guid))
  if (edit) row.set(name, edit)
  else row.delete(name)
  const after = new Map(before)
  if (row.size > 0) after.set(guid, row)
  else after.delete(guid)
  return after
}

/** The same object with another value at a dotted name. */
export function withValue<T extends object>(object: T, name: string, value: unknown): T {
  const [first = '', ...rest] = name.split('.')
  if (rest.length === 0) return { ...object, [first]: value }
  const inner: unknown = Object.entries(object).find(([key]) => key === first)?.[1]
  return { ...object, [first]: withValue(isFields(inner) ? inner : {}, rest.join('.'), value) }
}

/** Does so many pieces of work at a time; the others wait in their order. */
function atMost(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go))
    else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
