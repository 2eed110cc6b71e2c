import { Tooltip } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import { Icon } from '../controls/icon.tsx'
import { shellTexts } from '../texts/shell.ts'
import classes from './navigation.module.css'
import { placeOf, sectionOf, sections } from './sections.ts'

interface NavigationProps {
  /** Icons only. */
  readonly narrow: boolean
  readonly onGo: () => void
}

export function Navigation({ narrow, onGo }: NavigationProps) {
  const [path] = useLocation()
  const open = sectionOf(path)
  return (
    <nav aria-label={shellTexts.mainNavigation} className={classes.navigation}>
      <ul className={classes.list}>
        {sections.map((section) => {
          const isOpen = section === open
          const place = placeOf(section, path)
          return (
            <li key={section.path}>
              <Tooltip label={section.label} position="right" disabled={!narrow} openDelay={100}>
                <Link
                  href={section.path}
                  className={`${classes.section} ${narrow ? classes.narrow : ''}`}
                  data-open={isOpen || undefined}
                  aria-current={isOpen && section.places.length === 0 ? 'page' : undefined}
                  aria-label={narrow ? section.label : undefined}
                  onClick={onGo}
                >
                  <Icon name={section.icon} />
                  {narrow ? null : <span>{section.label}</span>}
                </Link>
              </Tooltip>
              {isOpen && !narrow && section.places.length > 0 ? (
                <ul className={classes.places}>
                  {section.places.map((one) => (
                    <li key={one.path}>
                      {one.group === undefined ? null : <div className={classes.group}>{one.group}</div>}
                      <Link
                        href={one.path}
                        className={classes.place}
                        aria-current={one === place ? 'page' : undefined}
                        onClick={onGo}
                      >
                        {one.label}
                      </Link>
                    </li>
                  ))}
                </ul>
              ) : null}
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
