import { jobRows } from '../job-row.ts'
import { numberOf, textOf } from './postgres-connection.ts'

export const { summaryOf, jobOf } = jobRows({ numberOf, textOf })
