export function useState<T = any>(first?: any): [T, (next: T | ((old: T) => T)) => void]
export function useEffect(run: () => void | (() => any), on?: any[]): void
export function useLayoutEffect(run: () => void | (() => any), on?: any[]): void
export function useRef<T = any>(first?: any): { current: T }
export function useMemo<T>(make: () => T, on?: any[]): T
export function useCallback<T>(run: T, on?: any[]): T
