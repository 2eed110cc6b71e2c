/** The tasks as a resource of one block, and as the flows that are drawn for them. */
import type { Goal } from './goal.ts'
import { compareTasks } from './task-operations.ts'

const LEAST = 0.95
const file = new URL('../../examples/tasks-resource.blueprint.json', import.meta.url)

export const resource: Goal = {
  id: 'resource',
  title: 'the tasks as a resource of one block',
  goal: `each operation at least ${LEAST} × of the flows`,
  measure: (timing) => compareTasks({ one: [file], other: 'example', least: LEAST }, timing),
}
