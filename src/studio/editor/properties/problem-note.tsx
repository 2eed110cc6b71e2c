import { Icon } from '../../controls/icon.tsx'
import type { Level } from '../state/editor-state.ts'
import classes from './properties.module.css'

export function ProblemNote({ message, level }: { readonly message: string; readonly level: Level }) {
  return (
    <div className={classes.problem} data-level={level}>
      <Icon name={level === 'info' ? 'info' : 'warning'} size={15} />
      <span>{message}</span>
    </div>
  )
}
