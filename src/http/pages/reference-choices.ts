/**
 * The documents that an input of the type `choice` offers where its field refers to documents of another storage: by their names,
 * as far as the visitor may see them. One search for each storage.
 */
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { shownName } from '../../shared/fields/shown-name.ts'
import type { JsonObject } from '../../shared/json.ts'
import { everyNode, type PageNode } from '../../shared/pages/page-content.ts'
import type { InputOption, PageInput } from '../../shared/pages/page-input.ts'
import { search } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { type FieldOf, inputsOf, type RulesOf } from './field-rules-of.ts'

/** A list of more is nothing that people choose from: the guid is typed. */
const MOST_CHOICES = 200
/** Of all documents of a list, which are read whole: to parse more would hold the event loop for over 10 ms. */
const MOST_CHARACTERS = 1024 * 1024
/** Documents of the first look, which shows how large they are. */
const FIRST = 20
/** Storages that one page asks. */
const MOST_STORAGES = 16

export interface ChoiceMaking {
  /** The visitor's. */
  readonly session: Session
  readonly rulesOf: RulesOf
  readonly fieldOf: FieldOf
}

/** Gives each such input as it is drawn, and all others as they are. */
export async function referenceChoices(
  nodes: readonly PageNode[],
  { session, rulesOf, fieldOf }: ChoiceMaking,
): Promise<(input: PageInput) => PageInput> {
  const storages = new Map<PageInput, string>()
  for (const node of everyNode(nodes)) {
    if (node.kind !== 'form') continue
    for (const input of inputsOf(node)) {
      if (input.type !== 'choice' || input.options !== undefined) continue
      const storage = fieldOf(node, input)?.reference?.storage
      if (storage !== undefined) storages.set(input, storage)
    }
  }
  const choices = new Map<string, readonly InputOption[]>()
  for (const storage of [...new Set(storages.values())].slice(0, MOST_STORAGES)) {
    const options = await documentsAsOptions(session, storage, rulesOf)
    if (options) choices.set(storage, options)
  }
  return (input) => {
    const storage = storages.get(input)
    if (storage === undefined) return input
    const options = choices.get(storage)
    return options ? { ...input, options } : { ...input, type: 'text' }
  }
}

/** undefined where there are too many, or they are too large. */
async function documentsAsOptions(
  session: Session,
  storage: string,
  rulesOf: RulesOf,
): Promise<readonly InputOption[] | undefined> {
  const documents = await smallDocuments(session, storage)
  if (documents === undefined) return undefined
  const name = shownName(await rulesOf(storage), storage)
  const path = name === undefined ? undefined : parseFieldPath(name)
  const options = documents.map((document) => {
    const guid = guidOf(document)
    const label = path && valueAt(document, path)
    return { value: guid, label: typeof label === 'string' && label.trim() !== '' ? label : guid }
  })
  return options.toSorted((a, b) => a.label.localeCompare(b.label))
}

/** By no order: what has no index would be sorted whole, however many there are. */
async function smallDocuments(session: Session, storage: string): Promise<JsonObject[] | undefined> {
  const first = await session.find(storage, search({ limit: FIRST }))
  if (first.documents.text.length > MOST_CHARACTERS) return undefined
  const after = first.next()
  if (after === undefined) return documentsOf(first)
  const rest = await session.find(storage, search({ limit: MOST_CHOICES - FIRST + 1, after }))
  const characters = first.documents.text.length + rest.documents.text.length
  if (rest.length > MOST_CHOICES - FIRST || characters > MOST_CHARACTERS) return undefined
  return [...documentsOf(first), ...documentsOf(rest)]
}
