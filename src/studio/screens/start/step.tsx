import { Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Icon } from '../../controls/icon.tsx'
import classes from './step.module.css'

interface StepProps {
  readonly number: number
  readonly title: string
  readonly done?: boolean
  readonly children: ReactNode
}

export function Step({ number, title, done = false, children }: StepProps) {
  return (
    <li className={`surface ${classes.step}`}>
      <span className={classes.number} data-done={done || undefined}>
        {done ? <Icon name="check" size={16} /> : number}
      </span>
      <div className={classes.content}>
        <Title order={2} size="h4" mb={4}>
          {title}
        </Title>
        {children}
      </div>
    </li>
  )
}
