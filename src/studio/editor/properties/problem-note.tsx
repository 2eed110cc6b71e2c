import { Icon } from '../../controls/icon.tsx'
import type { Level } from '../model/fresh-blocks.ts'
import classes from './properties.module.css'

export function ProblemNote({ message, level }: { readonly message: string; readonly level: Level }) {
  return (
    <div className={classes.problem} data-level={level}>
      <Icon name={level === 'info' || level === 'needed' ? 'info' : 'warning'} size={15} />
      <span>{message}</span>
    </div>
  )
}
