import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { Document } from '../../../../shared/api/data/documents.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { queryClient } from '../../../api/query-client.ts'
import { changeDocument, createDocument, documentQuery } from '../../../api/storages.ts'
import { notifyDone } from '../../../controls/notify.ts'
import { dataTexts } from '../../../texts/data.ts'
import { isFields, valueAt } from './document-shape.ts'

/** Creates the document and opens it, or changes the one that is there: only the given fields, and only if it is unchanged since. */
export function useDocumentSave(
  storage: StorageRecord,
  document: Document | undefined,
  onSaved: (sent: Edits, saved: Document) => void,
  /** The version that the edits were made from, where it is not `document`. */
  lock: Document | undefined = document,
) {
  const [here, go] = useLocation()
  return useMutation({
    mutationFn: (fields: Edits) =>
      document
        ? changeDocument(storage._meta.guid, lock ?? document, fields)
        : createDocument(storage._meta.guid, fields),
    onSuccess: (saved, sent) => {
      notifyDone(document ? dataTexts.saved : dataTexts.created)
      onSaved(sent, saved)
      if (document || location.pathname !== `/studio${here}`) return
      const { guid } = saved._meta
      queryClient.setQueryData(documentQuery(storage._meta.guid, guid).queryKey, saved)
      // The form stays as it is, with what was typed since.
      go(`/data/storages/${storage._meta.guid}/documents/${guid}`, {
        replace: true,
        state: { goesOnFrom: here },
      })
    },
  })
}

/** Edits of a document: dotted or plain field name → new value. */
export type Edits = Readonly<Record<string, unknown>>

/**
 * What to send to make one document of another: the top-level fields that differ. The API sets fields and takes none away,
 * so a field that is gone becomes null; `lost` names those.
 */
export function changedFields(
  before: Edits,
  after: Edits,
): { readonly fields: Edits; readonly lost: readonly string[] } {
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(after))
    if (name !== '_meta' && JSON.stringify(value) !== JSON.stringify(before[name])) fields[name] = value
  const lost = Object.keys(before).filter(
    (name) => name !== '_meta' && !Object.hasOwn(after, name) && before[name] !== null,
  )
  for (const name of lost) fields[name] = null
  return { fields, lost }
}

/** What is to be sent of an editor. */
export interface DocumentChanges {
  readonly fields: Edits
  /** Fields that become null. */
  readonly lost: readonly string[]
  /** Fields that another user has changed too, to something else. */
  readonly disputed: readonly string[]
}

/**
 * The changes from `before` to `typed`, for a document that is `now` something else: what only another user has changed
 * stays. `compared`: what its user has seen of it since, and decided to write over.
 */
export function changesSince(
  before: Edits,
  typed: Edits,
  now: Edits,
  compared: Edits = before,
): DocumentChanges {
  const { fields, lost } = changedFields(before, typed)
  const others = changedFields(before, now).fields
  const same = (name: string) => JSON.stringify(fields[name] ?? null) === JSON.stringify(now[name] ?? null)
  const names = Object.keys(fields).filter((name) => !Object.hasOwn(others, name) || !same(name))
  const unseen = changedFields(compared, now).fields
  return {
    fields: Object.fromEntries(names.map((name) => [name, fields[name]])),
    lost: lost.filter((name) => names.includes(name)),
    disputed: names.filter((name) => Object.hasOwn(unseen, name)),
  }
}

/** By the name of the field: the version of the document in which its edit began. */
export type Begun = Readonly<Record<string, Document>>

/**
 * The version of a field that is known: that of the document, or the one that a save has just given. A save ends when the document was read again, but another
 * change that is told meanwhile begins the reading again, and until then the document is the former one.
 */
export function versionOf(name: string, begun: Begun, document: Document | undefined): Document | undefined {
  const known = Object.hasOwn(begun, name) ? begun[name] : undefined
  if (known === undefined || document === undefined) return document
  return known._meta.ums > document._meta.ums ? known : document
}

/** The same of a form, whose fields were each edited at a time of their own. A field that is typed back is not edited. */
export function editsSince(edits: Edits, begun: Begun, now: Document | undefined): DocumentChanges {
  const at = (document: Edits | undefined, name: string) => JSON.stringify(valueAt(document ?? {}, name))
  const before = (name: string) => at(Object.hasOwn(begun, name) ? begun[name] : now, name)
  const present = (name: string) => at(versionOf(name, begun, now), name)
  const names = Object.keys(edits).filter((name) => {
    const typed = JSON.stringify(edits[name])
    return typed !== before(name) && typed !== present(name)
  })
  return {
    fields: Object.fromEntries(names.map((name) => [name, edits[name]])),
    lost: [],
    disputed: names.filter((name) => before(name) !== present(name)),
  }
}

/** As it was read last, which a component may not have heard yet. */
export function latestOf(storage: StorageRecord, document: Document): Document {
  return queryClient.getQueryData(documentQuery(storage._meta.guid, document._meta.guid).queryKey) ?? document
}

/** The document without what the cluster writes, as it is edited. */
export function withoutMeta(document: Edits): Edits {
  const { _meta, ...fields } = document
  return fields
}

/** The object that a text holds; an Error in words if it holds something else. */
export function objectIn(text: string): Edits {
  const value: unknown = JSON.parse(text)
  if (!isFields(value)) throw new Error(dataTexts.documentIsObject)
  return value
}
