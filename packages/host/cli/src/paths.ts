import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** True in the built program, where everything that is no code lies beside it. */
declare const DSH_DIST: boolean | undefined
const built = typeof DSH_DIST !== 'undefined' && DSH_DIST

const here = dirname(fileURLToPath(import.meta.url))
const checkout = join(here, '../../../..')

/** The installed package: `bin/`, `dist/` and the manifest. */
export const packageRoot = join(here, '..')

/** What the build put beside the code. */
export const assetsDir = built ? join(here, 'assets') : undefined

/** Bundles that come with the program, one directory each: `base`, `headless`, … */
export const bundlesDir = built ? join(here, 'assets/bundles') : join(checkout, 'bundles')

/** Where the session that `dsh demo` plays may lie: in the installed package, or in the tree that it is built from. */
export const demoFixtures = [packageRoot, checkout].map((dir) => join(dir, 'fixtures/fix-a-failing-test'))

/** Templates that a home's profiles are initialised from. */
export const profileTemplatesDir = built ? join(here, 'assets/profiles') : join(checkout, 'profiles')
