! calc: Fortran: formatted and internal I/O, select case, computed goto,
! allocatable arrays, alternate returns, error stop.
module work
  implicit none
contains
  recursive integer function ackermann(m, n) result(r)
    integer, intent(in) :: m, n
    if (m == 0) then
      r = n + 1
    else if (n == 0) then
      r = ackermann(m - 1, 1)
    else
      r = ackermann(m - 1, ackermann(m, n - 1))
    end if
  end function

  integer function chosen(i) result(r)
    integer, intent(in) :: i
    select case (i)
    case (:-1)
      r = -1
    case (0)
      r = 10
    case (1)
      r = 23
    case (2)
      r = 37
    case (3, 5)
      r = 41
    case (4)
      r = 59
    case (6:9)
      r = i * i
    case default
      r = 0
    end select
  end function

  subroutine either(n, *, *)
    integer, intent(in) :: n
    if (n == 1) return 1
    if (n == 2) return 2
  end subroutine

  integer function jumps(i) result(r)
    integer, intent(in) :: i
    r = 0
    go to (10, 20, 30, 40), i
    r = 1
10  r = r + 10
20  r = r + 100
    go to 50
30  r = r + 1000
40  r = r + 10000
50  r = r * 2
  end function
end module

program calc
  use work
  implicit none
  real(8), allocatable :: a(:, :)
  character(len=40) :: text
  integer :: i, k, status, sum
  sum = 0
  do i = -2, 11
    sum = sum * 3 + chosen(i)
  end do
  write (*, '(a, i0)') 'select ', sum
  write (*, '(5(i0, 1x))') (jumps(i), i = 0, 4)
  write (*, '(a, i0)') 'ackermann ', ackermann(2, 5)
  allocate (a(20, 20))
  do i = 1, 20
    do k = 1, 20
      a(i, k) = 1d0 / (i + k - 1)
    end do
  end do
  write (*, '(a, f12.8, es14.6)') 'matrix ', sum_of(matmul(a, a)), &
    maxval(a)
  write (text, '(i5.5, l3, e12.4)') 42, .true., 1.25
  write (*, '(a)') trim(text)
  read (text, '(i5)') k
  write (*, *) 'read', k
  read (text, '(i3)', iostat=status) k
  call either(2, *100, *200)
100 write (*, *) 'first'
200 write (*, *) 'second', status == 0
  text = 'bad'
  read (text, '(i3)', iostat=status) k
  write (*, *) 'bad input', status /= 0
  if (command_argument_count() > 0) error stop 7
contains
  real(8) function sum_of(m)
    real(8), intent(in) :: m(:, :)
    sum_of = 0d0
    do k = 1, size(m, 1)
      sum_of = sum_of + m(k, k)
    end do
  end function
end program
