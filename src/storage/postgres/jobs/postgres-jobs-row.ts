import { jobRows } from '../../job-row.ts'
import { numberOf, textOf } from '../core/postgres-connection.ts'

export const { summaryOf, jobOf } = jobRows({ numberOf, textOf })
