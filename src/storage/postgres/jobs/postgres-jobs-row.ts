import { jobRows } from '../../job-row.ts'
import { numberOf, textOf } from '../core/rows.ts'

export const { summaryOf, jobOf, statesOf } = jobRows({ numberOf, textOf })
