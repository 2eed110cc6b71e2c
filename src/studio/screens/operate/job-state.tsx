import { Badge } from '@mantine/core'
import type { JobSummary } from '../../../shared/api/operate/queues.ts'
import { operateTexts } from '../../texts/operate.ts'

const states = {
  waiting: ['waiting', 'gray'],
  running: ['running', 'petrol'],
  done: ['done', 'green'],
  dead: [operateTexts.deadLetter, 'red'],
} as const

export function JobState({ job }: { readonly job: JobSummary }) {
  const [label, color] = states[job.status]
  return <Badge color={color}>{label}</Badge>
}
