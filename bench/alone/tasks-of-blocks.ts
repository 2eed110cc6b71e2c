/** The tasks drawn with expressions in 16 blocks, and as they were drawn before there were any, in 50. */
import type { Goal } from './goal.ts'
import { compareTasks } from './task-operations.ts'

const LEAST = 1
const file = new URL('tasks-of-blocks.blueprint.json', import.meta.url)

export const tasksOfBlocks: Goal = {
  id: 'tasks-of-blocks',
  title: 'the tasks with expressions',
  goal: `each operation at least ${LEAST.toFixed(1)} × of the same with blocks only`,
  measure: (timing) => compareTasks({ one: 'example', other: [file], least: LEAST }, timing),
}
