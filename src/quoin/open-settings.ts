import { serverOptionList, withStored } from '../options/changeable-options.ts'
import type { Options } from '../options/options.ts'
import { type OptionSettings, optionSettings } from '../records/settings/option-settings.ts'
import { openSettings } from '../records/settings/settings.ts'
import type { Database } from '../storage/database.ts'
import type { Start } from './start.ts'

/** The options as they are at present: some change while the process runs. */
export interface PresentOptions {
  /** The same object until one of them changes. */
  present(): Options
  /** Called behind each change. Gives what ends it. */
  watch(listener: () => void): () => void
}

export interface NodeSettings extends PresentOptions {
  readonly settings: OptionSettings
}

/** What a step is given once the database is open. */
export interface SetStart extends Start {
  readonly set: NodeSettings
}

/** Settings that are stored, over the options that the process was started with. */
export async function openNodeSettings(
  { options, opened }: Pick<Start, 'options' | 'opened'>,
  database: Database,
): Promise<NodeSettings> {
  const stored = await openSettings(database)
  opened.add(async () => stored.close())
  let present = withStored(options, stored.texts())
  // The first listener: those that are called after it read what it has made.
  stored.watch(() => {
    present = withStored(options, stored.texts())
  })
  return {
    present: () => present,
    watch: stored.watch,
    settings: optionSettings(serverOptionList, options.texts, stored),
  }
}
