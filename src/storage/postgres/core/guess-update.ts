/**
 * An update in one round trip: it begins from the text that this node knows of the document, instead of reading it, and asks
 * PostgreSQL to write only where that text is still stored. What it refuses, or fails with, may be due to a wrong guess: then
 * it is no answer, and the document is read first.
 */
import { QuoinError } from '../../../shared/errors.ts'
import type { Mutation } from '../../../shared/mutation.ts'
import type { WriteCondition, Written } from '../../database.ts'
import type { DocumentChanges } from '../../document-session.ts'
import { splitDocument } from '../../document-text.ts'
import { UnitConflict } from '../../unit-of-work.ts'
import {
  changedDocument,
  documentChanges,
  isPlainChange,
  type Update,
  type Writing,
  writtenDocument,
} from './postgres-documents.ts'

/** For the first write of a session that can be done once more: it is told UnitConflict when the guess proves wrong. */
export const guessingChanges: DocumentChanges<Writing, Promise<Written>> = {
  ...documentChanges,
  update: async (...update) => guessUpdate(...update) ?? documentChanges.update(...update),
}

/** Undefined where there is nothing to guess from. */
function guessUpdate(
  writing: Writing,
  guid: string,
  mutations: readonly Mutation[],
  condition: WriteCondition | undefined,
): Written | undefined {
  const { connection, entry, current, known } = writing
  const text = known.guess(entry.table, guid)
  if (text === undefined) return undefined
  const stored = { text, parts: splitDocument(text) }
  const update = unlessRefused(() => changedDocument(writing, stored, mutations, condition))
  if (update === undefined || !isPlainChange(entry, update.contents)) return undefined
  const wrong = () => known.wrong(entry.table)
  /** `onlyIf` gives the condition, of the number of the value that is the text. */
  const write = (onlyIf: (text: string) => string) => {
    if (current() !== entry && !isPlainChange(current(), update.contents)) return undefined
    const sent = update.statement(current())
    const values = [...sent.values, text]
    return connection.statement(`${sent.text} AND ${onlyIf(`doc::text = $${values.length}`)}`, values)
  }
  connection.defer({
    statement: () => write((same) => same),
    async perform() {
      throw new UnitConflict()
    },
    wrong,
    // A row that is locked counts as a wrong guess. Totals of free text are rows that other transactions change, too.
    unwaiting: () =>
      current().textWanted
        ? undefined
        : write(
            (same) =>
              `guid = (SELECT guid FROM ${entry.table} WHERE guid = $1 AND ${same} FOR NO KEY UPDATE SKIP LOCKED)`,
          ),
  })
  return writtenDocument(update, stored)
}

function unlessRefused(change: () => Update | Written): Update | undefined {
  try {
    const update = change()
    return 'text' in update ? update : undefined
  } catch (error) {
    if (error instanceof QuoinError) return undefined
    throw error
  }
}
