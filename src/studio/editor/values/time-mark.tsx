import { runsTexts } from '../../texts/runs.ts'
import { type BlockTime, timeWords } from './block-time.ts'
import classes from './values.module.css'

/** On the lower edge of a block: how often sampled runs executed it, and how long it took. */
export function TimeMark({ time }: { readonly time: BlockTime }) {
  const { passes, median, most, spoken } = timeWords(time)
  return (
    <span className={`${classes.time} numbers`} title={runsTexts.sampledRuns(spoken)}>
      <span>{passes}</span>
      <b>{median}</b>
      <span>95 % {most}</span>
    </span>
  )
}
