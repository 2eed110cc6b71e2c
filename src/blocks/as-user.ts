/** On whose behalf a block reads and writes documents. */
import type { Settings, SettingValues } from './setting.ts'

/** The setting of blocks that open documents. The compiler gives a block with "user" a session on behalf of the user of the request. */
export const asSettings = {
  as: {
    kind: 'choice',
    options: ['application', 'user'],
    default: 'application',
    help: 'On whose behalf: the application sees and changes all documents; for the user of the request the rules of the storage and of its fields count (a run without a request, such as a job, is anonymous; behind a wait it is the user of the request that the run began with).',
  },
} as const satisfies Settings

/** Whether the rules of storages count for what the block does. */
export function actsAsUser({ as }: SettingValues<Settings>): boolean {
  return as === 'user'
}
