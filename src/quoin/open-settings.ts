import { serverOptionList, withStored } from '../options/changeable-options.ts'
import type { Options } from '../options/options.ts'
import { type OptionSettings, optionSettings } from '../records/settings/option-settings.ts'
import { openSettings } from '../records/settings/settings.ts'
import type { Database } from '../storage/database.ts'
import { isOfSpace } from './space-options.ts'
import type { Start } from './start.ts'

/** The options as they are at present: some change while the process runs. */
export interface PresentOptions {
  /** The same object until one of them changes. */
  present(): Options
  /** Called behind each change. Gives what ends it. */
  watch(listener: () => void): () => void
}

export interface NodeSettings extends PresentOptions {
  /** The texts of those that are stored. */
  stored(): ReadonlyMap<string, string>
  readonly settings: OptionSettings
}

/** What a step is given once the database is open. */
export interface SetStart extends Start {
  readonly set: NodeSettings
}

/** Settings that are stored, over the options that the process was started with; of a space, over those of the operator at present. */
export async function openNodeSettings(
  { options, space, opened }: Pick<Start, 'options' | 'space' | 'opened'>,
  database: Database,
): Promise<NodeSettings> {
  const stored = await openSettings(database)
  opened.add(async () => stored.close())
  const base = space?.options ?? (() => options)
  const mayBeSet = space ? isOfSpace : undefined
  let present = withStored(base(), stored.texts(), mayBeSet)
  const listeners = new Set<() => void>()
  const changed = () => {
    present = withStored(base(), stored.texts(), mayBeSet)
    for (const listener of listeners) listener()
  }
  stored.watch(changed)
  if (space) opened.add(space.watchOptions(changed))
  const kinds = space ? serverOptionList.filter(({ name }) => isOfSpace(name)) : serverOptionList
  return {
    present: () => present,
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    stored: stored.texts,
    settings: optionSettings(kinds, options.texts, stored, space?.inherited),
  }
}
