import { operateTexts } from '../../texts/operate.ts'

const ownQueues: ReadonlyMap<string, string> = new Map(Object.entries(operateTexts.ownQueues))

/** What people call a queue: those of Quoin itself have names such as `_schedules`, the others those that a builder gave. */
export function queueName(name: string): string {
  return ownQueues.get(name) ?? name
}
