import { matchRoute, useLocation, useRouter } from 'wouter'
import { type Screen, screens } from './screen-registry.ts'

/** The screen that the address shows. */
export function useScreen(): Screen | undefined {
  const { parser } = useRouter()
  const [path] = useLocation()
  return screens.find((screen) => matchRoute(parser, screen.path, path)[0])
}
