! select: Fortran's select case, on integers and characters.
integer function choose(n)
  implicit none
  integer, intent(in) :: n
  integer, external :: use
  select case (n)
  case (1)
    choose = use(10)
  case (2)
    choose = use(7) + 1
  case (3)
    choose = use(5) * 2
  case (4)
    choose = use(3) - 9
  case (5:6)
    choose = use(2) + n
  case (8)
    choose = use(1)
  case default
    choose = 0
  end select
end function

integer function letter(c)
  implicit none
  character, intent(in) :: c
  integer, external :: use
  select case (c)
  case ('a')
    letter = use(1)
  case ('b')
    letter = use(2) + 1
  case ('c')
    letter = use(3) + 2
  case ('d', 'e')
    letter = use(4) + 3
  case ('f')
    letter = use(5) + 4
  case default
    letter = 0
  end select
end function
