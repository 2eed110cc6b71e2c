import { jobRows } from '../../job-row.ts'
import { numberOf, textOf } from '../core/sqlite-connection.ts'

export const { summaryOf, jobOf, statesOf } = jobRows({ numberOf, textOf })
